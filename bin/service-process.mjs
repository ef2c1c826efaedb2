// One of several processes of a service; src/commands/serving/supervisor.ts starts it.
import { fileURLToPath } from 'node:url';
import { importPinned } from './pinned.mjs';

const main = fileURLToPath(new URL('../src/commands/service-process.ts', import.meta.url));
await importPinned(main, fileURLToPath(import.meta.url), []);
