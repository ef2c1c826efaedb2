import { resource } from '../../platform/manifest/resource.ts';
import { ruleJobs } from './jobs.ts';
import { ruleOperations } from './operations.ts';
import { personalRules } from './personal.ts';

export const rules = resource({
  name: 'rules',
  operations: ruleOperations,
  jobs: ruleJobs,
  personalData: personalRules,
});
