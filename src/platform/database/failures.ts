/** The fields that databases and drivers set on errors. */
interface Failure {
  readonly code?: string;
  readonly message?: string;
}

const failureOf = (error: unknown): Failure => (error ?? {}) as Failure;

const LOST = new Set(['57P01', '57P02', '57P03', 'ECONNRESET', 'EPIPE']);
/** The driver's message for a connection that was already closed by an earlier error. */
const LOST_MESSAGE = /^(?:Connection terminated|Client was closed|Client has encountered a connection error)/;

/** The connection broke, and its open transaction was rolled back. */
export function isLost(error: unknown): boolean {
  const { code, message } = failureOf(error);
  return LOST.has(code ?? '') || LOST_MESSAGE.test(message ?? '');
}

const READ_ONLY = '25006';

/** The server became read-only; after a failover a new connection reaches the new primary. */
export const isReadOnly = (error: unknown): boolean => failureOf(error).code === READ_ONLY;

const NOT_SUPPORTED = '0A000';

/** The statement was prepared before a migration; preparing it again helps. */
export function isStalePlan(error: unknown): boolean {
  const { code, message } = failureOf(error);
  return code === NOT_SUPPORTED && message?.startsWith('cached plan must not change result type') === true;
}

const LOCK_TIMEOUT = '55P03';

export const isLockTimeout = (error: unknown): boolean => failureOf(error).code === LOCK_TIMEOUT;

/** Serialization failure and deadlock. */
const COLLISIONS = new Set(['40001', '40P01']);

/** A serialization failure or deadlock aborted this transaction. */
export const isCollision = (error: unknown): boolean => COLLISIONS.has(failureOf(error).code ?? '');

const FOREIGN_KEY_VIOLATION = '23503';

/** The row's parent was deleted by a concurrent transaction. A retry finds it gone. */
export const isOrphan = (error: unknown): boolean => failureOf(error).code === FOREIGN_KEY_VIOLATION;

const STATEMENT_TIMEOUT = '57014';
/** The error code of SQLite queries that we abort ourselves. */
export const TOOK_TOO_LONG = 'TOOK_TOO_LONG';

/** The error code of SQLite writes that we refuse while a reader keeps the log growing. */
export const WAL_TOO_LONG = 'WAL_TOO_LONG';

/** The statement exceeded its timeout. */
export const isTimeout = (error: unknown): boolean =>
  [STATEMENT_TIMEOUT, TOOK_TOO_LONG].includes(failureOf(error).code ?? '');

/** Connection failures, out of memory, too many locks, full or failing disk. */
const OUTAGES = new Set([
  WAL_TOO_LONG,
  '08001',
  '08003',
  '08004',
  '08006',
  '53000',
  '53100',
  '53200',
  '53300',
  '53400',
  '58030',
]);
const NO_CONNECTION = /^(?:timeout exceeded when trying to connect|timeout expired|Query read timeout)/;

const UNREACHABLE = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN']);

/** No connection could be made. */
export function isNotConnected(error: unknown): boolean {
  const { code, message } = failureOf(error);
  return UNREACHABLE.has(code ?? '') || NO_CONNECTION.test(message ?? '');
}

/** The database is unreachable or overloaded, and a retry may succeed. */
export function isUnavailable(error: unknown): boolean {
  const { code, message } = failureOf(error);
  if (OUTAGES.has(code ?? '') || NO_CONNECTION.test(message ?? '')) return true;
  return [isLost, isReadOnly, isStalePlan, isLockTimeout, isCollision, isTimeout].some((is) => is(error));
}

/** Between this process and PostgreSQL is a pooler that gives each transaction another session. */
export class SharedSessions extends Error {
  constructor() {
    super('The pooler of MODSTEAD_DATABASE_URL shares sessions (pool_mode=transaction); use pool_mode=session.');
  }
}
