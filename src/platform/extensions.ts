/**
 * An interface that a lower resource declares and higher ones implement. Higher resources contribute in their
 * manifests, and the composition connects them.
 */
export interface ExtensionPoint<T> {
  readonly name: string;
  /** The type of a contribution, for the compiler only. */
  readonly contributed?: T;
}

export const extensionPoint = <T>(name: string): ExtensionPoint<T> => ({ name });

export interface Contribution {
  readonly point: ExtensionPoint<unknown>;
  readonly implementation: unknown;
}

export const contribute = <T>(point: ExtensionPoint<T>, implementation: T): Contribution => ({ point, implementation });

export interface Extensions {
  /** The contributions to a point, in the order in which the composition lists the resources. */
  of<T>(point: ExtensionPoint<T>): readonly T[];
}

export function createExtensions(contributions: readonly Contribution[]): Extensions {
  const byPoint = new Map<ExtensionPoint<unknown>, unknown[]>();
  for (const { point, implementation } of contributions) {
    const known = byPoint.get(point);
    if (known) known.push(implementation);
    else byPoint.set(point, [implementation]);
  }
  return { of: <T>(point: ExtensionPoint<T>) => (byPoint.get(point) ?? []) as readonly T[] };
}
