// `node bin/run.mjs FILE [ARGUMENT…]` runs a TypeScript file of the project on the pinned Node.js.
import { startPinned } from './pinned.mjs';

await startPinned(process.argv.slice(2));
