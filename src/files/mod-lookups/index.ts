import { resource } from '../../platform/manifest/resource.ts';
import { modLookupOperations } from './operations.ts';

export const modLookups = resource({ name: 'mod-lookups', operations: modLookupOperations });
