"""stub"""
def doctor() -> int:
    """stub"""
    return 0
