import { resource } from '../../platform/manifest/resource.ts';
import { modExtension } from './mod-extension.ts';
import { dependencyOperations } from './operations.ts';

export const dependencies = resource({
  name: 'dependencies',
  operations: dependencyOperations,
  extends: [modExtension],
});
