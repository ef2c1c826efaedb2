type Answers<T extends readonly unknown[]> = { -readonly [K in keyof T]: Awaited<T[K]> };

/**
 * The results of reads that were begun together, so that they reach the server together. It waits for all of them, because
 * none may send anything after its transaction has ended, and throws the failure of the first one in this order.
 */
export async function answersTo<const T extends readonly unknown[]>(reads: T): Promise<Answers<T>> {
  const settled = await Promise.allSettled(reads);
  return settled.map((each) => {
    if (each.status === 'rejected') throw each.reason;
    return each.value;
  }) as Answers<T>;
}
