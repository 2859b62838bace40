"""What the tests of several rooms are made with: git, repositories, servers, real material, waiting."""
