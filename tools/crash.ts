import { parseArgs } from 'node:util';
import { crashLoop } from '../test/crash/crash.ts';
import { uploadCrashLoop } from '../test/crash/uploads.ts';

const { values } = parseArgs({
  options: { loops: { type: 'string', default: '50' }, uploads: { type: 'boolean' }, help: { type: 'boolean' } },
});
if (values.help) {
  console.log(`npm run crash [-- --loops 50 --uploads]
Kills the service with -9 while 16 clients write, restarts it, and looks for acknowledged writes that are gone.
With --uploads the clients upload files in parts and resume, and each file is looked at.
MODSTEAD_TEST_DATABASE=postgres runs it on PostgreSQL.`);
} else if (values.uploads) {
  const { loops, parts, completed, lost } = await uploadCrashLoop(Number(values.loops), console.log);
  for (const line of lost) console.log(`LOST ${line}`);
  console.log(`${loops} kills, ${parts} acknowledged parts, ${completed} files, ${lost.length} lost`);
  process.exitCode = lost.length > 0 ? 1 : 0;
} else {
  const { loops, acknowledged, lost, slowestStartMs } = await crashLoop(Number(values.loops), console.log);
  for (const line of lost) console.log(`LOST ${line}`);
  console.log(
    `${loops} kills, ${acknowledged} acknowledged writes, ${lost.length} lost, slowest start ${Math.round(slowestStartMs)} ms`,
  );
  process.exitCode = lost.length > 0 ? 1 : 0;
}
