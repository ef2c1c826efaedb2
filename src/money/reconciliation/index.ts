import { resource } from '../../platform/manifest/resource.ts';
import { reconciliationOperations } from './operations.ts';

export const reconciliation = resource({ name: 'reconciliation', operations: reconciliationOperations });
