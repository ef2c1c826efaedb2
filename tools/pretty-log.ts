import { styleText } from 'node:util';

type Fields = Record<string, unknown>;
const COLOURS = { debug: 'gray', info: 'cyan', warn: 'yellow', error: 'red' } as const;
type Level = keyof typeof COLOURS;

/** Formats a JSON line of the log for a terminal; other lines stay unchanged. */
export function prettyLine(line: string): string {
  const entry = parsed(line);
  if (!entry) return line;
  const { time, level, message, ...fields } = entry;
  const clock = styleText('gray', String(time).slice(11, 23), { stream: process.stderr });
  const name = styleText(COLOURS[level], level.padEnd(5), { stream: process.stderr });
  return `${clock} ${name} ${message === 'request' ? requestText(fields) : messageText(String(message), fields)}`;
}

function parsed(line: string): (Fields & { level: Level }) | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    const entry = JSON.parse(line) as Fields;
    return typeof entry['level'] === 'string' && entry['level'] in COLOURS
      ? (entry as Fields & { level: Level })
      : undefined;
  } catch {
    return undefined;
  }
}

const requestText = ({ method, url, status, ms, environment }: Fields) =>
  `${status} ${method} ${url} ${ms} ms${environment === 'production' ? '' : ` (${environment})`}`;

function messageText(message: string, fields: Fields): string {
  const entries = Object.entries(fields);
  const short = entries.filter(([, value]) => !isError(value)).map(([name, value]) => `${name}=${textOf(value)}`);
  const stacks = entries.filter(([, value]) => isError(value)).map(([, value]) => `\n${stackOf(value as LoggedError)}`);
  return [message, ...short].join(' ') + stacks.join('');
}

interface LoggedError {
  readonly stack: string;
  readonly cause?: unknown;
}

const isError = (value: unknown): value is LoggedError =>
  typeof value === 'object' && value !== null && typeof (value as LoggedError).stack === 'string';

const stackOf = ({ stack, cause }: LoggedError): string =>
  isError(cause) ? `${stack}\ncaused by ${stackOf(cause)}` : stack;

const textOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
