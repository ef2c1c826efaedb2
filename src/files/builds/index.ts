import { resource } from '../../platform/manifest/resource.ts';
import { COOKING, left } from '../../platform/manifest/treatment.ts';
import { buildJobs } from './jobs.ts';
import { buildOperations } from './operations.ts';
import { personalBuilds } from './personal.ts';
import { storedBuilds } from './stored-objects.ts';

export const builds = resource({
  name: 'builds',
  operations: buildOperations,
  tables: {
    cook_builds: left(COOKING),
    cook_build_parts: left(COOKING),
  },
  jobs: buildJobs,
  personalData: personalBuilds,
  storedObjects: storedBuilds,
});
