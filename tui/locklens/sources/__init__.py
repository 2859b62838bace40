"""Sources of providers: registries, the hosts that may be asked, and their answers, which prove nothing by themselves.

Nothing here is believed because it was said: whether an answer is signed, and by whom, is a matter of the floor above.
"""
