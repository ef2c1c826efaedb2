import { ruleExtensions } from '../../catalogue/rules/extensions.ts';
import { scanExtensions } from '../../files/modfiles/extensions.ts';
import { contribute } from '../../platform/extensions.ts';
import { resource } from '../../platform/manifest/resource.ts';
import { service } from '../../platform/manifest/treatment.ts';
import { reportsOfRules, reportsOfScans } from './automatic.ts';
import { reportTexts } from './migrations/2026-11-17-report-texts.ts';
import { reportOperations } from './operations.ts';
import { personalReports } from './personal.ts';

export const reports = resource({
  name: 'reports',
  operations: reportOperations,
  migrations: [reportTexts],
  tables: {
    reports: service({ refers: { rule_id: 'game_rules' } }),
  },
  personalData: personalReports,
  extends: [contribute(ruleExtensions, reportsOfRules), contribute(scanExtensions, reportsOfScans)],
});
