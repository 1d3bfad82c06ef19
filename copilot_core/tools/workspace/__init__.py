"""Tools over the folders that somebody opened: find, read and list files, read logs, calculate."""
