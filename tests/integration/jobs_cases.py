def cases(settings):
    return []
