/** Structured lines on standard error. Values that could hold a key or token are never passed in; see `safeUrl`. */
export interface Log {
  debug(message: string, fields?: Fields): void;
  info(message: string, fields?: Fields): void;
  warn(message: string, fields?: Fields): void;
  error(message: string, fields?: Fields): void;
  /** Whether lines of this level are written; asked where the fields of a line are costly. */
  writes(level: Level): boolean;
  flush(): void;
}

type Fields = Record<string, unknown>;
export type Level = 'debug' | 'info' | 'warn' | 'error' | 'off';

const ORDER: Level[] = ['debug', 'info', 'warn', 'error', 'off'];
const FLUSH_MS = 100;
const FLUSH_CHARACTERS = 16_384;

export function createLog(level: Level, write: (text: string) => void): Log {
  let pending = '';
  let timer: NodeJS.Timeout | undefined;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    if (!pending) return;
    const text = pending;
    pending = '';
    write(text);
  };
  const writes = (severity: Level) => ORDER.indexOf(severity) >= ORDER.indexOf(level);
  const line = (severity: Level) => {
    if (!writes(severity)) return () => {};
    return (message: string, fields?: Fields) => {
      pending += `${JSON.stringify({ time: new Date().toISOString(), level: severity, message, ...fields }, asText)}\n`;
      if (pending.length > FLUSH_CHARACTERS || severity === 'error') flush();
      else timer ??= setTimeout(flush, FLUSH_MS).unref();
    };
  };
  return { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error'), writes, flush };
}

function asText(_key: string, value: unknown): unknown {
  if (!(value instanceof Error)) return value;
  return { name: value.name, message: value.message, stack: value.stack, cause: value.cause };
}

const SECRET_PARAMETERS =
  /([?&](?:api_key|access_token|security_code|code|token|client_secret|refresh_token|[a-z_]*ticket|[a-z_]*token|appdata|email)=)[^&]*/gi;

/** The address without what must not reach a log. */
export function safeUrl(url: string): string {
  return url.includes('?') ? url.replace(SECRET_PARAMETERS, '$1***') : url;
}
