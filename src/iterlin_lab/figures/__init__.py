"""What figures share: their look, their colours, parts of panels."""
