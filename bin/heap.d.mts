export const HEAP: Readonly<Record<string, string>>;
