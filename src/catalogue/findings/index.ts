import { resource } from '../../platform/resource.ts';
import { findingOperations } from './operations.ts';

export const findings = resource({
  name: 'findings',
  operations: findingOperations,
});
