import { existsSync, globSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { litestreamCopies, pgbackrestCopies } from '../test/crash/database-copies.ts';
import { restoreDrill } from '../test/crash/restores.ts';
import { programNamed } from '../test/debian.ts';

const { values } = parseArgs({
  options: {
    postgres: { type: 'boolean' },
    seconds: { type: 'string', default: '20' },
    litestream: { type: 'string' },
    help: { type: 'boolean' },
  },
});

const RECOVERY_POINT_SECONDS = 5;
const RECOVERY_SECONDS = 60;

if (values.help) {
  console.log(`npm run restore-drill [-- --postgres --seconds 20 --litestream /path/of/litestream]
Writes to a service while its database is copied continuously, kills everything, removes the disk, restores, and counts the
acknowledged writes that are gone; then it restores the state of a moment in between. On SQLite it needs Litestream, with
--postgres Debian's postgresql and pgbackrest. It fails if more than ${RECOVERY_POINT_SECONDS} s of writes are lost, or the restore takes more than ${RECOVERY_SECONDS} s.`);
} else process.exitCode = await drill();

async function drill(): Promise<number> {
  const copiesIn = values.postgres ? postgresCopies() : sqliteCopies();
  if (typeof copiesIn === 'string') {
    console.error(copiesIn);
    return 2;
  }
  const result = await restoreDrill(copiesIn, Number(values.seconds), console.log);
  const { acknowledged, lost, recoveryPointSeconds, recoverySeconds, wrongAtMoment } = result;
  for (const line of wrongAtMoment) console.log(`WRONG ${line}`);
  console.log(
    `${acknowledged} acknowledged writes, ${lost} lost; recovery point ${recoveryPointSeconds.toFixed(1)} s, recovery time ${recoverySeconds.toFixed(1)} s, ${wrongAtMoment.length} wrong at the moment in between`,
  );
  const isWithin = recoveryPointSeconds <= RECOVERY_POINT_SECONDS && recoverySeconds <= RECOVERY_SECONDS;
  return isWithin && wrongAtMoment.length === 0 ? 0 : 1;
}

function sqliteCopies() {
  const program = values.litestream ?? programNamed('litestream');
  if (!program || !existsSync(program)) return 'Litestream is missing: https://litestream.io, or --litestream.';
  return (folder: string) => litestreamCopies(folder, program);
}

function postgresCopies() {
  // The newest that pgBackRest of the same distribution knows.
  const [programs] = globSync('/usr/lib/postgresql/*/bin').sort().reverse();
  if (!programs || !programNamed('pgbackrest')) return 'Install the packages postgresql and pgbackrest.';
  return (folder: string) => pgbackrestCopies(folder, programs);
}
