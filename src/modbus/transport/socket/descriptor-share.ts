import { descriptorLimit, lowestFreeDescriptor, RESERVED_DESCRIPTORS } from '../../../common/descriptors.js';

/** Descriptors that REST should have left for its connections, at most and at least. */
const MOST_FOR_REST = 96;
const FEWEST_FOR_REST = 32;
/** Of a limit, this part is left free by clients of lines. */
const FREE_PART = 1 / 8;

/**
 * `free`: a line may have one more client. `scarce`: a line that has clients is as good as full. `spent`: nobody may have one
 * more, because the rest is for REST and files.
 */
export type DescriptorState = 'free' | 'scarce' | 'spent';

/**
 * How far the clients of lines have used up the file descriptors of this process. Of 1,024, they leave 128 free, and those
 * of lines without any other client 80; of 256 it is 64 and 48.
 * @param limit how many descriptors the process may have; undefined for what the system says
 */
export function descriptorStates(limit = descriptorLimit()): () => DescriptorState {
  if (limit === undefined) return () => 'free';
  const forRest = Math.min(
    MOST_FOR_REST,
    Math.max(FEWEST_FOR_REST, Math.floor(limit * FREE_PART) - RESERVED_DESCRIPTORS),
  );
  const spentFrom = limit - RESERVED_DESCRIPTORS - forRest / 2;
  const scarceFrom = limit - RESERVED_DESCRIPTORS - forRest;
  return () => {
    const used = lowestFreeDescriptor();
    if (used < scarceFrom) return 'free';
    return used < spentFrom ? 'scarce' : 'spent';
  };
}
