/** One check of `doctor`. */
export interface Check {
  readonly name: string;
  /** The advice if it fails. */
  readonly todo: string;
  /** Returns the state, or throws the problem. */
  run(): Promise<string>;
}

export interface Finding {
  readonly name: string;
  readonly ok: boolean;
  readonly says: string;
  readonly todo?: string;
}

/** A problem with more specific advice than the check's own. */
export class Wrong extends Error {
  readonly todo: string | undefined;

  constructor(message: string, todo?: string) {
    super(message);
    this.todo = todo;
  }
}

export async function perform({ name, todo, run }: Check): Promise<Finding> {
  try {
    return { name, ok: true, says: await run() };
  } catch (error) {
    return { name, ok: false, says: reasonOf(error), todo: (error as Wrong).todo ?? todo };
  }
}

/** Some errors have no message: aggregates of several attempts, and errors with only a code. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const inner = error.cause ?? (error instanceof AggregateError ? error.errors[0] : undefined);
  const own = error.message || (error as { code?: string }).code || error.name;
  return inner instanceof Error && inner.message && error.message !== inner.message
    ? [error.message, inner.message].filter(Boolean).join(': ')
    : own;
}
