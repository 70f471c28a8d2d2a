"""Video: CCAs compared by the quality of experience (ITU-T P.1203)."""
