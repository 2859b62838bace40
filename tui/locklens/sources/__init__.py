"""Where providers come from: registries and who may be asked, what they answer, and what none of it proves.

Nothing here is believed because it was said: whether an answer is signed, and by whom, is a matter of the floor above.
"""
