import { startAhead } from './ahead.ts';

/** The service in its own process, to be killed. The argument sets its clock ahead by that many seconds. */
const { port } = await startAhead(process.env, Number(process.argv[2] ?? 0));
process.send!({ port });
