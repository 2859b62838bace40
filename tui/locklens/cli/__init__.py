"""The command line: arguments, stdout and stderr discipline, exit statuses. It adds no logic of its own."""
