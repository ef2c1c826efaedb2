import { resource } from '../../platform/manifest/resource.ts';
import { statementOperations } from './operations.ts';

export const statements = resource({ name: 'statements', operations: statementOperations });
