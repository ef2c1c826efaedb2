/** The variables that a program needs to start; no secrets of the service. */
const NAMES = ['PATH', 'LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH', 'SystemRoot', 'TEMP', 'TMPDIR'];

export const childEnvironment = (): Record<string, string> =>
  Object.fromEntries(NAMES.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
