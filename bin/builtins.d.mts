export function hasCostlyExports(name: string): boolean;
export function withoutCostlyExports(name: string): string;
