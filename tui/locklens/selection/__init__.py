"""Version selection: the selectable versions of a provider, the selected one, and the reasons against newer ones.

Pure rules over values, no I/O. Only version numbers decide: the tools check platforms and plugin protocols after the
selection, and then do not select another version. The same is done and reported here.
"""
