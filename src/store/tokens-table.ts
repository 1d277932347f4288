/**
 * What the tokenizer `unicode61 remove_diacritics 2` of SQLite 3.53 makes of characters beyond ASCII, asked of SQLite
 * itself, code point by code point; a test asks again. The language's own tables are of a newer Unicode, and of another
 * one with every release of Node.
 */

/**
 * Ranges of characters that belong to words, ascending, in base 36: how far behind the end of the former range it
 * begins, and after a dot how many more follow. `~`: marks, which continue a word and count for nothing.
 */
export const WORD_RANGES: string = `
16 8.1 2 4.1 2.2 2.m 2.u 2.cp 5.b f.4 8 2 ~i.4 ~2.6 ~3 ~2 ~a ~8.5 ~5.1 ~2.1 1r.4 2.7 2.4 3 2.31 2.3u
9.5r 7.14 3.3 2 1k.16 3.a 6 n.1 3.16 m.9 5.1 2.2q 2 g.1 8.e 3 f 2 2.t s.2i c.1l a.1 5.r 5 a 4 6.1 g.p
4.1 2.3o s 5.1h 4 j 8.9 5.9 2.f 4.1j 2 8.1 3.1 4.8 2.9 3.d 3.5 3.4 4.1j 2 6.3 3.1 4.2 2.t 3.2 2.a 4.1j 2
9 4 4.j 3.b 3.e 4.1j 2 8.1 3.1 4.7 3.9 3.b 2.g 2.1m 6.2 4 5.8 2.q 9.5 4.1l 8 4 5.6 3.a 3.q 2.1 3.1j 2 8
4 5.6 3.a 3.t 3.1l 8 4 5.8 2.9 3.k 2.7 3.1x 2.3 7 2 9.h 4.1n 2.1 8.3 2.6 a.9 3.2c 2.1 7 3.a 7.1e w.j
d.1c o.4 c 11 g e.27 l.a 7.5 5.3 4 4.1 8.2 5.c d 2.9 7.2i 2.gw d.12 b.2t 2.h7 3.g 2.p 3.25 4.z 4.s 6.q
3.t 3.1r 10 5 2.x g.49 2.39 d.3 d.3 2.2 3.2x i.6 3.j z.m 6.1 3.1g b u.1 2.v 8 7.29 6.1a i.k 10.2 4.t
e.1j f.7 5.z l.2 6.1p 3.1r 9.7 q.3 2.3 4.5m 14.k 5.cc 2 4.a 4.c 4.c 4.c 3 2u.4 7.9 6.a 6.g r.l y.e 3 5
3.9 2 4.4 7 2 2 2.3 2.a 3.3 6.4 5 2.1r h1.b 14.o c.28 27.l e9 3a.t qi.2 b.ay 7.3 4.6 5 3.33 2.d 2.2n 28
d.1v r 2i.b 5z.p d.3 6.2 q.8 8.4 3.4 4.2g 5.2 2.2h 2.43 3.3 b.v 11.r w.a v.7 2.e x.9 14.e 1s 75.533
1t.h3j 1k.1i 3.7g 4.2m h.v 2.27 9.7 o.8 3.2u 3.3a 2.2 2.3 2.m a.9 5.1l 5.7 3.1d i.8 3.f j.5 4.16 b.m e.a
2.v 5.1a s.f 3.20 f.b 2.7 3.d 5.m 4 2.1f 2 4.1 3.4 3 2.r 3.a 8.2 3.6j c.8pd 1kx.5ct 2.9 2.3r h.aj 3.57
3.1 r.5 8.8 10 k 5.42 2 g.9 8.p 7.p c.3d 8 8.9 8.73 4.1f a.1k i.5 d.1f 1b.bk 2.1b 2.w5 2.5i 2.u 2.5c 4
3.4 5.13 4.3 2.f a.11 2.54 8.xr 4.1g n.1d 4.18 j.1p 4.z f.a 5.1n 4.1b f.3 5.yp e.2pj 5.esc 1b.f 5.j1o
6v.9 14.1 52.x 1z.55 2g.o9 2.o 2.u 2.o 2.u 2.o 2.u 2.o 2.u 2.o 2.4kr 3.7h 19.3 2t.b g.1 f.1 g g.1b w
1p.3 18.22 u.c 18.4 a.6 3.4t y.e 7 1z.2 l.b 12 6.k i.e 1s 2 53 5.2 1r.1 5.b p.42 1z.3 c.1b 1z.1l 39.gwi4
2.t 2p.3j 6p.47bj
`

/**
 * What a character is searched as, in base 36: how far behind the former one, what is added to it, and for a run of
 * characters with the same difference how many there are and how far apart.
 */
export const FOLDS: string = `
1h,lj b,-2n 1,-2o 1,-2p 1,-2q 1,-2r 1,-2s 1,w 1,-2s 1,-2r 1,-2s 1,-2t 1,-2u 1,-2r 1,-2s 1,-2t 1,-2u 1,w
1,-2r,2 1,-2s 1,-2t 1,-2u 1,-2v 2,w 1,-2s 1,-2t 1,-2u 1,-2v 1,-2s 1,w 2,-3j 1,-3k 1,-3l 1,-3m 1,-3n
1,-3o,2,2 1,-3n 1,-3o 1,-3p 1,-3q 1,-3n 1,-3o 1,-3p 1,-3q 2,-3n,2 1,-3o 1,-3p 1,-3q 1,-3r 3,-3o 1,-3p
1,-3q 1,-3r 1,-3o 2,-3q 1,-4f 1,-4g 1,-4h 1,-4i 1,-4j 1,-4k 1,-4j 1,-4k 1,-4l 1,-4m 1,-4n 1,-4o 1,-4p
1,-4q,2 1,-4r 1,1 2,-4t 1,-4u 1,-4v 1,-4w 1,-4x 1,-4y 1,-4z 1,-50 1,-51 1,-52 1,-51 1,-52 1,-53 1,-54
1,-55 1,-56 1,-57 1,-58,2 1,-59 1,1 2,-5b 1,-5c 1,-5d 1,-5e 1,-5f 1,-5g 1,-5h 1,-5i 1,-5j 2,1 2,-5m
1,-5n,2 1,-5o 2,-5p 1,-5q 1,-5r 1,-5s 1,-5t 1,-5u 1,1,2,2 2,-5x 1,-5y 1,-5z 1,-60 1,-61 1,-62 2,1 2,-65
1,-66 1,-67 1,-68 1,-69 1,-6a 1,1 2,-6a 1,-6b 1,-6c 1,-6d 1,-6e 1,-6f,2 1,-6g 1,-6h 1,-6i 1,-6j 1,-6k
1,-6l 1,-6m,2 1,-6n 1,-6o 1,-6p 1,1 2,-6r 1,-6s 1,-6t 1,-6u 1,-6v 1,-6w 1,-6x 1,-6y 1,-6z 1,-70 1,-71
1,-72 1,-71 1,-72 1,-71 1,-72 1,-73,2 1,-74 1,-75 1,-76 1,-77 1,-78 1,-7g 2,5u 1,1,2,2 2,5q 1,1 2,5p,2
1,1 3,27 1,5m 1,5n 1,1 2,5p 1,5r 2,5v 1,5t 1,1 4,5v 1,5x 2,5y 1,-8h 1,-8i 1,1,2,2 2,62 1,1 2,62 3,1 2,62
1,-8q 1,-8r 1,61,2 1,1,2,2 2,63 1,1 4,1 8,2 1,1 2,2 1,1 2,2 1,1 2,-a4 1,-a5 1,-9y 1,-9z 1,-9u 1,-9v
1,-9q 1,-9r 1,-9s 1,-9t 1,-9u 1,-9v 1,-9w 1,-9x 1,-9y 1,-9z 2,-al 1,-am 1,1,3,2 2,-an 1,-ao 1,-al 1,-am
1,-aj 1,-ak 1,-al 1,-am 1,1 2,-au 1,2 1,1 2,-b1 1,-b2 1,-2p 1,-1k 1,-ay 1,-az 1,-bd 1,-be 1,1,2,2 2,-bj
1,-bk 1,-bl 1,-bm 1,-bj 1,-bk 1,-bl 1,-bm 1,-bj 1,-bk 1,-bl 1,-bm 1,-bh 1,-bi 1,-bj 1,-bk 1,-bi 1,-bj
1,-bk 1,-bl 1,-bj 1,-bk 1,-bl 1,-bm 1,-bp 1,-bq,2 1,-br 1,1 2,-c6 1,-c7 1,-3m 2,1,2,2 2,-cl 1,-cm 1,-cj
1,-ck 1,-cb 1,-cc 1,-cd 1,-ce 1,-cf 1,-cg 1,-ch 1,-ci 1,-c9 1,-ca 7,8bv 1,1 2,-4j 1,8bs 3,1 2,-5f 1,1x
1,1z 1,1,5,2 82,1,2,2 4,1 g,12 2,11,3 2,1s 2,1r,2 2,w,h 2,w,9 n,1 d,8 1,-u 1,-p 4,-f 1,-m 2,1,c,2 2,-1i
1,-1c 3,-1o 1,-1s 2,1 2,-7 1,1 3,-3m,3 1,28,g 1,w,w 1d,1,h,2 a,1,r,2 2,f 1,1,7,2 3,1,18,2 b,1c,12
28a,5ls,12 2,5ls 6,5ls 2lv,-5un 1,-5uo,2 1,-5up 1,-5uq 1,-5ur 1,-5us 1,-5ut,2 1,-5uu,2 1,-5uv 1,-5uw
1,-5ux 1,-5uy 1,-5uz 1,-5v0 1,-5v1 1,-5v2 1,-5v3,2 1,-5v4 1,-5v5 1,-5v6 1,-5v7 1,-5v8 1,-5v9 1,-5va
1,-5vb 1,-5vc,2 1,-5vd,2 1,-5ve,2 1,-5vf 1,-5vg 1,-5vh 1,-5vi 1,-5vj 1,-5vk 1,-5vl 1,-5vm 1,-5vn,2
1,-5vo 1,-5vp 1,-5vq 1,-5vp 1,-5vq 1,-5vr 1,-5vs 1,-5vt 1,-5vu,2 1,-5vv 1,-5vw 1,-5vx 1,-5vy 1,-5vz
1,-5w0 1,-5w1,2 1,-5w2 1,-5w3 1,-5w4 1,-5w5 1,-5w6,2 1,-5w7 1,-5w8 1,-5w9 1,-5wa 1,-5wb 1,-5wc 1,-5wd,2
1,-5we 1,-5wf 1,-5wg 1,-5wh 1,-5wi 1,-5wj 1,-5wk,2 1,-5wl 1,-5wm 1,-5wn 1,-5wm 1,-5wn 1,-5wo 1,-5wp
1,-5wq 1,-5wr 1,-5ws 1,-5wt,2 1,-5wu 1,-5wv 1,-5ww 1,-5wx 1,-5wy 1,-5wz 1,-5x0 1,-5x1 1,-5x2,2 1,-5x3
1,-5x4 1,-5x5 1,-5x6 1,-5x7 1,-5x8 1,-5x9,2 1,-5xa 1,-5xb 1,-5xc 1,-5xd 1,-5xe 1,-5xf 1,-5xg 1,-5xh
1,-5xi,2 1,-5xj 1,-5xk 1,-5xl,2 1,-5xm 1,-5xn 1,-5xo 1,-5xp 1,-5xq 1,-5xr 1,-5xs 1,-5xt 1,-5xu,2 1,-5xv
1,-5xw 1,-5xx,2 1,-5xy,2 1,-5xz 1,-5y0 1,-5y1 1,-5y2 1,-5y3 1,-5ym 1,-5yb 1,-5y9 1,-5y8 2,-5yg 3,-5vj
2,-5z3 1,-5z4 1,-5z5 1,-5z6 1,-5z7 1,-5z8 1,-5z9 1,-5za 1,-5zb 1,-5zc 1,-5zd 1,-5ze 1,-5zf 1,-5zg 1,-5zh
1,-5zi 1,-5zj 1,-5zk 1,-5zl 1,-5zm 1,-5zn 1,-5zo 1,-5zp 1,-5zq 1,-5zn 1,-5zo 1,-5zp 1,-5zq 1,-5zr 1,-5zs
1,-5zt 1,-5zu 1,-5zv 1,-5zw 1,-5zx 1,-5zy 1,-5zz 1,-600 1,-601 1,-602 1,-5zz 1,-600 1,-601 1,-602 1,-5zx
1,-5zy 1,-5zz 1,-600 1,-601 1,-602 1,-603 1,-604 1,-605 1,-606 1,-607 1,-608 1,-609 1,-60a 1,-60b 1,-60c
1,-60d 1,-60e 1,-60f 1,-60g 1,-60h 1,-60i 1,-60j 1,-60k 1,-60f 1,-60g 1,-60h 1,-60i 1,-60j 1,-60k 1,-60l
1,-60m 1,-60n 1,-60o 1,-60p 1,-60q 1,-60r 1,-60s 1,-60p 1,-60q 1,-60r 1,-60s 1,-60t 1,-60u 1,-60v 1,-60w
1,1,3,2 a,-8,8 9,-8,6 b,-8,8 9,-8,8 9,-8,6 c,-8,4,2 9,-8,8 p,-8,8 9,-8,8 9,-8,8 9,-8,2 1,-22,2 1,-9
2,-5j9 a,-2e,4 1,-9 c,-8,2 1,-2s,2 d,-8,2 1,-34,2 1,-7 c,-3k,2 1,-3i,2 1,-9 8a,-5st 4,-6gv 1,-6h6 7,s
1a,g,g k,1 22l,1c,1b 1e,1 2,-8af 1,-2xy 1,-89z 3,1,3,2 2,-8bg 1,-8al 1,-8bj 1,-8bi 2,1 3,1 9,-8cf,2
1,1,1e,2 9,1,2,2 5,1 nym,1,n,2 k,1,c,2 3w,1,7,2 4,1,v,2 b,1,2,2 2,-r9g 1,1,5,2 5,1 2,-wmg 3,1,2,2
e,1,5,2 2,-wn8 h9z,w,q xy,14,14
`
