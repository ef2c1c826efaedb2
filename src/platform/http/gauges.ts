import about from '../../../package.json' with { type: 'json' };
import type { App } from '../app.ts';
import type { Environment } from '../config/addresses.ts';
import { statement } from '../database/database.ts';
import { jobBacklog } from '../jobs/jobs.ts';

const GAUGES = {
  modstead_info: 'The version of the process that answered.',
  modstead_database_up: '1 if the database answers.',
  modstead_schema_migrations: 'Migrations that the database has.',
  modstead_storage_up: '1 if the storage of files answers.',
  modstead_jobs_parked: 'Jobs that failed at each attempt.',
  modstead_jobs_due: 'Jobs that could run now.',
  modstead_job_delay_seconds: 'How long the oldest of them has waited.',
  modstead_storage_free_bytes: 'Space for files beside the reserve; missing for buckets.',
} as const;

const MIGRATIONS = statement('select count(*) as total from migrations');
/** Asking for an object that never exists shows whether the storage answers, at the least cost. */
const ABSENT = 'check/absent';

type Sample = readonly [name: keyof typeof GAUGES, labels: string, value: number];

/** What is read when somebody asks: the same from each process, because it describes what they share. */
export async function gaugesText(apps: Readonly<Record<Environment, App>>): Promise<string> {
  const samples: Sample[] = [['modstead_info', `version="${about.version}"`, 1]];
  for (const app of Object.values(apps)) samples.push(...(await samplesOf(app)));
  return Object.entries(GAUGES)
    .flatMap(([name, says]) => {
      const lines = samples
        .filter((sample) => sample[0] === name)
        .map(([, labels, value]) => `${name}{${labels}} ${value}`);
      return lines.length === 0 ? [] : [`# HELP ${name} ${says}`, `# TYPE ${name} gauge`, ...lines];
    })
    .map((line) => `${line}\n`)
    .join('');
}

async function samplesOf({ environment, db, clock, storage }: App): Promise<Sample[]> {
  const labels = `environment="${environment}"`;
  const free = await storage.room().catch(() => undefined);
  const isStorageUp = await storage.stat(ABSENT).then(
    () => 1,
    () => 0,
  );
  const ofStorage: Sample[] = [
    ['modstead_storage_up', labels, isStorageUp],
    ...(free === undefined ? [] : [['modstead_storage_free_bytes', labels, free] as const]),
  ];
  try {
    const { parked, due, delaySeconds } = await jobBacklog(db, clock);
    const { total } = (await db.first<{ total: number }>(MIGRATIONS, []))!;
    return [
      ['modstead_database_up', labels, 1],
      ['modstead_schema_migrations', labels, Number(total)],
      ['modstead_jobs_parked', labels, parked],
      ['modstead_jobs_due', labels, due],
      ['modstead_job_delay_seconds', labels, delaySeconds],
      ...ofStorage,
    ];
  } catch {
    return [['modstead_database_up', labels, 0], ...ofStorage];
  }
}
