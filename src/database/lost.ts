const CODES = new Set(['57P01', '57P02', '57P03', 'ECONNRESET', 'EPIPE']);
/** As the driver says it of a connection that it finds closed; what closed it was an error before. */
const MESSAGE = /^(?:Connection terminated|Client was closed|Client has encountered a connection error)/;

/** A connection to the database broke, and all that was begun on it is undone. */
export function isLost(error: unknown): boolean {
  const { code, message } = (error ?? {}) as { code?: string; message?: string };
  return CODES.has(code ?? '') || MESSAGE.test(message ?? '');
}
