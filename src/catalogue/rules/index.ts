import { resource } from '../../platform/manifest/resource.ts';
import { content, service } from '../../platform/manifest/treatment.ts';
import { ruleJobs } from './jobs.ts';
import { ruleOperations } from './operations.ts';
import { personalRules } from './personal.ts';

export const rules = resource({
  name: 'rules',
  operations: ruleOperations,
  tables: {
    game_rules: content(),
    game_rule_versions: content({ refers: { rule_id: 'game_rules' } }),
    rule_decisions: service({ refers: { rule_id: 'game_rules' } }),
    rule_holds: content({ refers: { rule_id: 'game_rules' } }),
  },
  jobs: ruleJobs,
  personalData: personalRules,
});
