import { resource } from '../../platform/manifest/resource.ts';
import { modExtension } from './mod-extension.ts';
import { findingOperations } from './operations.ts';

export const findings = resource({
  name: 'findings',
  operations: findingOperations,
  extends: [modExtension],
});
