import { resource } from '../../platform/resource.ts';
import { reportOperations } from './operations.ts';
import { personalReports } from './personal.ts';

export const reports = resource({
  name: 'reports',
  operations: reportOperations,
  personalData: personalReports,
});
