"""What kills, full folders and other publishers do to a publication: it is whole or not there."""
