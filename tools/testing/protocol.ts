/** What the runner tells a test process: the next file, and what was not known when the process was started. */
export type Order = { file: string; alone: boolean; leakSeconds: number; env: Record<string, string> };

export type Counts = { tests: number; passed: number; skipped: number; todo: number };

/** What a test process tells the runner about the file that it was given. */
export type News =
  | { type: 'done'; counts: Counts; problem?: string; memory: number }
  | { type: 'leak'; resources: string[] };

/** Stands at the end of a file's output on both streams, because messages may overtake output. */
export const END_OF_OUTPUT = '\u0000end of file\u0000';
