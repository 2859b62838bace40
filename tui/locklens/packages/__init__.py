"""Provider packages: hashed while they arrive, unpacked safely.

The tools unpack a package and hash the folder; everything here gives what that would have given, for every zip file
that they accept, and never a hash where they would have failed. Nothing here judges whether a hash is the right one.
"""
