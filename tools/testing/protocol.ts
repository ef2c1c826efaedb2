/** The runner's message to a test process: the next file, and settings that were unknown when the process started. */
export type Order = { file: string; alone: boolean; leakSeconds: number; env: Record<string, string> };

export type Counts = { tests: number; passed: number; skipped: number; todo: number };

/** A test process's message to the runner about its current file. */
export type News =
  | { type: 'done'; counts: Counts; problem?: string; memory: number }
  | { type: 'leak'; resources: string[] };

/** Marks the end of a file's output on both streams, because messages may overtake output. */
export const END_OF_OUTPUT = '\u0000end of file\u0000';
