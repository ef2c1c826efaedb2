/** What a database and its driver say when a statement failed for no fault of its own. */
interface Failure {
  readonly code?: string;
  readonly message?: string;
}

const failureOf = (error: unknown): Failure => (error ?? {}) as Failure;

const LOST = new Set(['57P01', '57P02', '57P03', 'ECONNRESET', 'EPIPE']);
/** As the driver says it of a connection that it finds closed; what closed it was an error before. */
const LOST_MESSAGE = /^(?:Connection terminated|Client was closed|Client has encountered a connection error)/;

/** A connection to the database broke, and all that was begun on it is undone. */
export function isLost(error: unknown): boolean {
  const { code, message } = failureOf(error);
  return LOST.has(code ?? '') || LOST_MESSAGE.test(message ?? '');
}

const READ_ONLY = '25006';

/** The connection leads to a server that takes no writes any more: after a failover another connection leads elsewhere. */
export const isReadOnly = (error: unknown): boolean => failureOf(error).code === READ_ONLY;

const NOT_SUPPORTED = '0A000';

/** A statement was prepared before a migration changed a table of its. Prepared anew, it works. */
export function isStalePlan(error: unknown): boolean {
  const { code, message } = failureOf(error);
  return code === NOT_SUPPORTED && message?.startsWith('cached plan must not change result type') === true;
}

const LOCK_TIMEOUT = '55P03';

export const isLockTimeout = (error: unknown): boolean => failureOf(error).code === LOCK_TIMEOUT;

/** Serialization failure and deadlock. */
const COLLISIONS = new Set(['40001', '40P01']);

/** Two transactions stood in each other's way, and this one had to yield. */
export const isCollision = (error: unknown): boolean => COLLISIONS.has(failureOf(error).code ?? '');

const FOREIGN_KEY_VIOLATION = '23503';

/** What a row was added under ended meanwhile. The work, done anew, finds it gone. */
export const isOrphan = (error: unknown): boolean => failureOf(error).code === FOREIGN_KEY_VIOLATION;

const STATEMENT_TIMEOUT = '57014';
/** On SQLite, where we end queries ourselves. */
export const TOOK_TOO_LONG = 'TOOK_TOO_LONG';

/** The statement took longer than one may. */
export const isTimeout = (error: unknown): boolean =>
  [STATEMENT_TIMEOUT, TOOK_TOO_LONG].includes(failureOf(error).code ?? '');

/** No connection or none to spare, no memory, too many locks, a full disk, and one that fails. */
const OUTAGES = new Set(['08001', '08003', '08004', '08006', '53000', '53100', '53200', '53300', '53400', '58030']);
const NO_CONNECTION = /^(?:timeout exceeded when trying to connect|timeout expired|Query read timeout)/;

/** The database is away or has too much to do. It may work a moment later. */
export function isUnavailable(error: unknown): boolean {
  const { code, message } = failureOf(error);
  if (OUTAGES.has(code ?? '') || NO_CONNECTION.test(message ?? '')) return true;
  return [isLost, isReadOnly, isStalePlan, isLockTimeout, isCollision, isTimeout].some((is) => is(error));
}
