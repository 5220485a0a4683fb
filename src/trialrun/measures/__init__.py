"""Pure arithmetic: plain values in, a number or plain result out, None where it is undefined."""
