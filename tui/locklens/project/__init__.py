"""What a configuration says: the trees it is read from, its files and modules, and who requires which provider."""
