"""What a registry states of a release, authenticated: the one way by which reviews, locks and installs ask.

`session` has the connections, gpg and threads of a run; `authentication` judges a release as the tools do; `lookup`
turns answers and failures into the values of `facts`. Nothing here compares a release with what is locked.
"""
