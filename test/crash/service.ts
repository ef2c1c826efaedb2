import { startAhead } from './ahead.ts';

/** The service in its own process, to be killed. The argument, and each message, sets its clock ahead by that many seconds. */
let ahead = Number(process.argv[2] ?? 0);
process.on('message', (seconds: number) => {
  ahead = seconds;
});
process.on('disconnect', () => process.exit());
const { port } = await startAhead(process.env, () => ahead);
process.send!({ port });
