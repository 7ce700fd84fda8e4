"""The pages, in Streamlit; they draw what the engine decides."""
