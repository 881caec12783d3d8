"""stub"""
def init() -> int:
    """stub"""
    return 0
