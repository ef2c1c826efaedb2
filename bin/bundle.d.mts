export const BUNDLE_FOLDER: string;
export const MANIFEST: string;
export function stateOf(path: string): string;
export function bundleOf(file: string, folder?: string): string | undefined;
