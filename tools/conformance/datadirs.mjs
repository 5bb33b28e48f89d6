export function* dataDirectories() {}
