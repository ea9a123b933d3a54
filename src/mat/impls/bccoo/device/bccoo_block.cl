/*
  bccoo_block.cl - a block as the kernels of products and of conversion know it; it comes before both

    HEIGHT, WIDTH; COLUMNS 1 int32, 2 uint16, 3 differences from one column to the next
*/
#define ENTRIES (HEIGHT * WIDTH)

#if COLUMNS == 1
typedef int COLUMN;
#elif COLUMNS == 2
typedef ushort COLUMN;
#else
typedef short COLUMN;
#endif
