import { resolve } from 'node:path';
import { SettingError } from '../platform/config/settings.ts';
import { isLost, SharedSessions } from '../platform/database/failures.ts';
import { UnreleasedDatabase } from '../platform/database/migrate.ts';
import { ApiError, type FieldProblem } from '../platform/errors/catalogue.ts';
import { errorMessage, validationMessage } from '../platform/errors/messages.ts';
import { sourceTrace } from '../platform/runtime/stack-traces.ts';
import { StorageUnavailable } from '../platform/storage/storage.ts';
import { Refusal } from './invocation/command.ts';

export interface Failure {
  readonly text: string;
  readonly exitCode: number;
}

/** One sentence for a known failure, and the error itself for the rest. */
export function failureOf(error: unknown, env: NodeJS.ProcessEnv): Failure {
  if (error instanceof Refusal) return { text: error.message, exitCode: error.exitCode };
  if ([SettingError, UnreleasedDatabase, SharedSessions].some((kind) => error instanceof kind))
    return { text: (error as Error).message, exitCode: 2 };
  if (error instanceof ApiError) return { text: apiErrorText(error), exitCode: 1 };
  if (error instanceof StorageUnavailable) return { text: storageText(error), exitCode: 1 };
  const known = knownText(error as SystemError, env);
  return { text: known ?? `Unexpected: ${withCauses(error)}`, exitCode: 1 };
}

const storageText = ({ message }: StorageUnavailable) =>
  `The bucket of MODSTEAD_STORAGE_URL cannot be used (${message}); check it, or correct the address.`;

function apiErrorText({ error, values, fields }: ApiError): string {
  return fields ? fields.map(problemText).join(' ') : errorMessage(error, 'en', values);
}

export const problemText = ({ field, rule, values }: FieldProblem): string =>
  validationMessage(rule, 'en', { field, ...values });

type SystemError = Error & {
  code?: string;
  errcode?: number;
  syscall?: string;
  port?: number;
  path?: string;
  hostname?: string;
};

function knownText(error: SystemError, env: NodeJS.ProcessEnv): string | undefined {
  return listenText(error, env) ?? sqliteText(error, env) ?? postgresText(error, env) ?? folderText(error, env);
}

function listenText(
  { code, syscall, port, message, hostname }: SystemError,
  env: NodeJS.ProcessEnv,
): string | undefined {
  if (syscall !== 'listen' && syscall !== 'bind' && syscall !== 'getaddrinfo') return undefined;
  if (code === 'EADDRINUSE')
    return `Port ${port} is in use by another program; stop that one, or set MODSTEAD_PORT to a free port.`;
  if (code === 'EACCES')
    return `Port ${port} is not allowed for this user; set MODSTEAD_PORT to one above 1023, or grant the permission.`;
  const isBind = hostname !== undefined && hostname === env['MODSTEAD_BIND'];
  if (code === 'EADDRNOTAVAIL' || isBind) return `MODSTEAD_BIND must be an address of this machine (${message}).`;
  return undefined;
}

const SQLITE_PRIMARY = 0xff;
const SQLITE_SENTENCES: Record<number, string> = {
  5: 'is locked by another program; stop whatever keeps it open for writing (a copy, a backup, a database browser).',
  8: 'cannot be written; give this user write permission for its files.',
  10: 'could not be read or written (disk error); check the disk.',
  11: 'is damaged; restore it from a backup.',
  13: 'cannot grow: the disk is full.',
  14: 'cannot be opened; give this user read and write permission for its folder.',
  26: 'is not an SQLite database; move the file away or set MODSTEAD_DATA to another folder.',
};

function sqliteText({ code, errcode }: SystemError, env: NodeJS.ProcessEnv): string | undefined {
  if (code !== 'ERR_SQLITE_ERROR' || errcode === undefined) return undefined;
  const sentence = SQLITE_SENTENCES[errcode & SQLITE_PRIMARY];
  return sentence && `The database in ${dataFolder(env)} ${sentence}`;
}

const POSTGRES_SENTENCES: Record<string, string> = {
  ECONNREFUSED: 'does not accept connections; start it, or correct MODSTEAD_DATABASE_URL.',
  ENOTFOUND: 'has a host name that does not exist; correct MODSTEAD_DATABASE_URL.',
  EAI_AGAIN: 'has a host name that cannot be resolved now; check the name server.',
  ETIMEDOUT: 'does not answer; check the network, or correct MODSTEAD_DATABASE_URL.',
  '28P01': 'refuses the user name or password of MODSTEAD_DATABASE_URL.',
  '28000': 'refuses the user of MODSTEAD_DATABASE_URL.',
  '42501': 'denies its user a required permission; let the user own the database.',
  '53300': 'has no connection left; raise its max_connections.',
  '57P01': 'closed the connection; run the command again.',
  '57P03': 'is starting up or shutting down; try again in a moment.',
};

function postgresText({ code, message }: SystemError, env: NodeJS.ProcessEnv): string | undefined {
  const isDatabase = env['MODSTEAD_DATABASE_URL'] !== undefined;
  if (!isDatabase || code === undefined) return isDatabase ? connectionText(message) : undefined;
  if (code === '3D000') return `There is no such database (${message}); run "npx modstead migrate", or create it.`;
  return POSTGRES_SENTENCES[code] && `PostgreSQL ${POSTGRES_SENTENCES[code]}`;
}

function connectionText(message = ''): string | undefined {
  if (isLost({ message })) return `PostgreSQL ${POSTGRES_SENTENCES['57P01']}`;
  return /timeout/i.test(message) ? `PostgreSQL ${POSTGRES_SENTENCES['ETIMEDOUT']}` : undefined;
}

const FOLDER_CODES = ['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EDQUOT', 'ENOTDIR', 'EEXIST', 'ENOENT'];

function folderText({ code = '', syscall, path }: SystemError, env: NodeJS.ProcessEnv): string | undefined {
  const isFile = ['mkdir', 'open', 'write', 'link', 'fsync', 'scandir'].includes(syscall ?? '');
  if (!isFile || !FOLDER_CODES.includes(code)) return undefined;
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return `The data folder ${dataFolder(env)} cannot grow: the disk is full.`;
  const place = !path || path.startsWith(dataFolder(env)) ? `The data folder ${dataFolder(env)}` : path;
  return `${place} cannot be written (${code}); give this user write access, or set MODSTEAD_DATA to another folder.`;
}

const dataFolder = (env: NodeJS.ProcessEnv) => resolve(env['MODSTEAD_DATA'] || './data');

function withCauses(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const trace = sourceTrace(error.stack ?? error.message);
  return error.cause === undefined ? trace : `${trace}\n  from ${withCauses(error.cause)}`;
}
