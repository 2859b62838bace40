"""The configuration of root modules: trees, files, modules, and the requirements of providers."""
