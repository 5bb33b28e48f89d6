export const TOOL_STEPS = []
