import { resource } from '../../platform/manifest/resource.ts';
import { CREDENTIAL, KEYED, left, SHORT_LIVED } from '../../platform/manifest/treatment.ts';
import { mailedCodeJobs } from './jobs.ts';
import { mailedCodeOperations } from './operations.ts';
import { personalCodes } from './personal.ts';

export const mailedCodes = resource({
  name: 'mailed-codes',
  operations: mailedCodeOperations,
  tables: {
    email_codes: left(CREDENTIAL),
    code_counters: left(SHORT_LIVED),
    known_places: left(KEYED),
  },
  jobs: mailedCodeJobs,
  personalData: personalCodes,
});
